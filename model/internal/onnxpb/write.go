// Package onnxpb writes and reads ONNX files field by field, so that weights are streamed, and those
// of a mapped file are not copied. The numbers of fields are those of onnx.proto.
package onnxpb

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The TensorProto.DataType that networks use.
const (
	Float  = 1  // float32
	Uint8  = 2  // uint8
	Int8   = 3  // int8
	Int64  = 7  // int64
	Bool   = 9  // bool
	Half   = 10 // float16
	Double = 11 // float64
)

// The AttributeProto.AttributeType that networks use.
const (
	attrFloat  = 1
	attrInt    = 2
	attrString = 3
	attrGraph  = 5
	attrInts   = 7
)

// A Message is a protocol buffer message under construction: its methods add a field.
type Message []byte

// Bytes adds a field of bytes, or a message.
func (m Message) Bytes(field protowire.Number, b []byte) Message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

// Text adds a field of text.
func (m Message) Text(field protowire.Number, s string) Message { return m.Bytes(field, []byte(s)) }

// Int adds a field with a whole number.
func (m Message) Int(field protowire.Number, v int64) Message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

// Begin begins a field of n bytes, which the caller writes behind the message.
func (m Message) Begin(field protowire.Number, n int64) Message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.BytesType), uint64(n))
}

// Pair returns a StringStringEntryProto.
func Pair(key, value string) Message { return Message{}.Text(1, key).Text(2, value) }

// Attribute returns an AttributeProto with an int, float32, string, list of int, or graph.
func Attribute(name string, value any) Message {
	m := Message{}.Text(1, name)
	switch v := value.(type) {
	case int:
		return m.Int(3, int64(v)).Int(20, attrInt)
	case float32:
		m = protowire.AppendTag(m, 2, protowire.Fixed32Type)
		m = protowire.AppendFixed32(m, math.Float32bits(v))
		return m.Int(20, attrFloat)
	case string:
		return m.Text(4, v).Int(20, attrString)
	case []int:
		for _, x := range v {
			m = m.Int(8, int64(x))
		}
		return m.Int(20, attrInts)
	case Message:
		return m.Bytes(6, v).Int(20, attrGraph)
	}
	panic("onnxpb: attribute " + name + ": unknown type")
}

// A Dim is a dimension of a value: a number, or a name if it is free.
type Dim any

// ValueInfo returns a ValueInfoProto for a tensor.
func ValueInfo(name string, elem int64, dims ...Dim) Message {
	var shape Message
	for _, d := range dims {
		var one Message
		switch d := d.(type) {
		case int:
			one = one.Int(1, int64(d))
		case string:
			one = one.Text(2, d)
		}
		shape = shape.Bytes(1, one)
	}
	tensor := Message{}.Int(1, elem).Bytes(2, shape)
	return Message{}.Text(1, name).Bytes(2, Message{}.Bytes(1, tensor))
}
