package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// sumField begins the field of the checksum, the last of a line.
const sumField = `"sum":"`

// sumDigits is the number of hexadecimal digits of SHA-256 that are kept: 64 bits.
const sumDigits = 16

// sumOf returns the checksum of a record that follows a line with the checksum before, which is ""
// for the first.
func sumOf(before string, record []byte) string {
	h := sha256.New()
	h.Write([]byte(before))
	h.Write(record)
	return hex.EncodeToString(h.Sum(nil))[:sumDigits]
}

// seal adds the checksum to a record, a JSON object.
func seal(before string, record []byte) (line []byte, sum string) {
	if len(record) < 2 || record[0] != '{' || record[len(record)-1] != '}' {
		panic("journal: a record is not an object")
	}
	sum = sumOf(before, record)
	line = append(line, record[:len(record)-1]...)
	if len(record) > 2 {
		line = append(line, ',')
	}
	return append(append(append(line, sumField...), sum...), `"}`...), sum
}

// unseal removes the checksum from a line, and reports whether it is right: whether sealing the
// record gives exactly the line.
func unseal(before string, line []byte) (record []byte, sum string, ok bool) {
	if record, ok = cut(line); !ok {
		return nil, "", false
	}
	sealed, sum := seal(before, record)
	return record, sum, bytes.Equal(sealed, line)
}

// cut removes the checksum from a line without checking it.
func cut(line []byte) (record []byte, ok bool) {
	body := len(line) - len(sumField) - sumDigits - len(`"}`)
	if body < 1 || line[0] != '{' {
		return nil, false
	}
	return append(bytes.Clone(bytes.TrimSuffix(line[:body], []byte(","))), '}'), true
}
