package graph

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers and enumerations of onnx.proto, IR version 8.
const (
	irVersion   = 8
	opset       = 17
	elemFloat   = 1 // TensorProto.DataType
	elemUint8   = 2
	elemInt8    = 3
	elemInt64   = 7
	elemHalf    = 10
	elemDouble  = 11
	attrFloat   = 1 // AttributeProto.AttributeType
	attrInt     = 2
	attrString  = 3
	attrGraph   = 5
	attrInts    = 7
	elemBool    = 9
	dataOutside = 1 // TensorProto.DataLocation.EXTERNAL

	modelGraph    = 7
	graphInit     = 5
	tensorRawData = 9
)

// message is a protocol buffer message under construction.
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, b)
}

func (m *message) str(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) int(field protowire.Number, v int64) {
	*m = protowire.AppendTag(*m, field, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(v))
}

func (m *message) float(field protowire.Number, v float32) {
	*m = protowire.AppendTag(*m, field, protowire.Fixed32Type)
	*m = protowire.AppendFixed32(*m, math.Float32bits(v))
}

// pair returns a StringStringEntryProto.
func pair(key, value string) message {
	var m message
	m.str(1, key)
	m.str(2, value)
	return m
}

// attribute returns an AttributeProto with an int, float32, string, list of int, or graph.
func attribute(name string, value any) message {
	var m message
	m.str(1, name)
	switch v := value.(type) {
	case int:
		m.int(3, int64(v))
		m.int(20, attrInt)
	case float32:
		m.float(2, v)
		m.int(20, attrFloat)
	case string:
		m.str(4, v)
		m.int(20, attrString)
	case []int:
		for _, x := range v {
			m.int(8, int64(x))
		}
		m.int(20, attrInts)
	case message:
		m.bytes(6, v)
		m.int(20, attrGraph)
	default:
		panic("graph: attribute " + name + ": unknown type")
	}
	return m
}

// dim is a dimension of a value: a number, or a name if it is free.
type dim any

// valueInfo returns a ValueInfoProto for a tensor.
func valueInfo(name string, elem int64, dims ...dim) message {
	var shape message
	for _, d := range dims {
		var one message
		switch d := d.(type) {
		case int:
			one.int(1, int64(d))
		case string:
			one.str(2, d)
		}
		shape.bytes(1, one)
	}
	var tensor, kind, m message
	tensor.int(1, elem)
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	m.str(1, name)
	m.bytes(2, kind)
	return m
}

// opsetID returns an OperatorSetIdProto; the empty domain is ONNX's own.
func opsetID(domain string, version int64) message {
	var m message
	if domain != "" {
		m.str(1, domain)
	}
	m.int(2, version)
	return m
}
