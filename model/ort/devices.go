package ort

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// DeviceForms is what Config.Device may be, for messages.
const DeviceForms = "cpu, cuda, cuda:N, auto, or several of one kind, such as cuda:0,1"

var errDevices = errors.New("must be " + DeviceForms)

// devices are those of a list with commas between, at least one: cuda:0,1 is cuda:0,cuda:1. They are of
// one kind, so that no row depends on which of them it went to.
func devices(list string) ([]device, error) {
	var out []device
	names := strings.Split(list, ",")
	for i, s := range names {
		if _, err := strconv.Atoi(s); i > 0 && err == nil && out[0].cuda {
			s = "cuda:" + s
		}
		d, err := parseDevice(s)
		if len(names) > 1 && (s == "" || d.auto || i > 0 && d.cuda != out[0].cuda) {
			err = errDevices
		}
		if err != nil {
			return nil, fmt.Errorf("onnx session: device %q: %w", list, errDevices)
		}
		out = append(out, d)
	}
	return out, nil
}

// Each is a configuration for each device of the list in Device. They share the threads, of which each has
// at least one.
func (c Config) Each() ([]Config, error) {
	list, err := devices(c.Device)
	if err != nil || len(list) == 1 {
		return []Config{c}, err
	}
	c.tellThreads()
	var each []Config
	for i, d := range list {
		one := c
		one.Device, one.Threads = d.name, max(1, (c.threads()+i)/len(list))
		each = append(each, one)
	}
	return each, nil
}

// CheckDevice returns an error unless s is a device or a list of them, as Config.Device has, without looking
// for them.
func CheckDevice(s string) error {
	_, err := devices(s)
	return err
}
