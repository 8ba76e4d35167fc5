package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"mdmgen/samplers"
)

// optionFlag is an option of samplers on the command line.
type optionFlag struct {
	*cli.StringFlag
	option samplers.Option
}

// sampleFlags choose the sampler.
func sampleFlags() []cli.Flag {
	out := []cli.Flag{
		&cli.StringFlag{Name: "sampler", Value: "fhs", Category: catSample, Usage: "`NAME` of the sampler: " + strings.Join(samplers.Names(), ", ")},
		&cli.Uint64Flag{Name: "seed", Category: catSample, DefaultText: "random, printed", Usage: "`SEED` of the random streams"},
		&cli.IntFlag{Name: "batch", Category: catSample, DefaultText: "up to 8", Usage: "`N` sequences in a network call; the samples do not depend on it"},
	}
	return append(out, optionFlags(false)...)
}

// callFlags say how the network is called. They are of the commands that sample.
func callFlags() []cli.Flag { return optionFlags(true) }

func optionFlags(calls bool) []cli.Flag {
	var out []cli.Flag
	for _, o := range samplers.AllOptions() {
		if o.Calls == calls {
			out = append(out, &optionFlag{&cli.StringFlag{Name: o.Name, Category: catSample, DefaultText: o.Default, Usage: o.Help}, o})
		}
	}
	return out
}

// samplerOptions reads the sampler's flags, and the profile that they ask for.
func samplerOptions(c *cli.Context) (samplers.Options, error) {
	o, err := bareOptions(c)
	if err != nil {
		return o, err
	}
	return o, useProfile(c, &o)
}

// bareOptions are the sampler's options without a profile.
func bareOptions(c *cli.Context) (samplers.Options, error) {
	o := samplers.Options{Sampler: c.String("sampler")}
	for _, option := range samplers.AllOptions() {
		if c.IsSet(option.Name) {
			if err := option.Set(&o, c.String(option.Name)); err != nil {
				return o, err // None: arrange has read it.
			}
		}
	}
	return o, nil
}

// checkSamplerFlags refuses unknown samplers, and flags that the sampler does not use.
func checkSamplerFlags(c *cli.Context) error {
	name := c.String("sampler")
	if _, ok := samplers.Describe(name); !ok {
		return usagef("--sampler %s: must be one of %s", name, strings.Join(samplers.Names(), ", "))
	}
	o, err := bareOptions(c)
	if err != nil {
		return err
	}
	unused, err := o.Unused()
	if err != nil {
		return usagef("%s: %s", c.Command.Name, bare(err))
	}
	for flag, why := range inOrder(unused) {
		if !c.IsSet(flag) {
			continue
		}
		excluding := []string{flag}
		err := usagef("%s: the sampler %s does not use it", dashed(flag), name)
		if why != "" {
			err = usagef("%s: the sampler %s does not use it with --%s", dashed(flag), name, why)
			excluding = append(excluding, strings.Fields(why)[0])
		}
		for _, flag := range excluding {
			if leaveOut(c, err, flag) == nil {
				return checkSamplerFlags(c) // without it
			}
		}
		return err
	}
	return useProfile(c, &o)
}
