package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// sumField begins the field of the checksum, which is a line's last.
const sumField = `"sum":"`

// sumDigits is how many hexadecimal digits of SHA-256 are kept: 64 bits.
const sumDigits = 16

// sumOf is the checksum of a record that stands after a line with the checksum before, "" for
// the first.
func sumOf(before string, record []byte) string {
	h := sha256.New()
	h.Write([]byte(before))
	h.Write(record)
	return hex.EncodeToString(h.Sum(nil))[:sumDigits]
}

// seal puts the checksum into a record, an object in JSON.
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

// unseal takes the checksum out of a line, and reports whether it is the line's: whether sealing
// what is left gives the very line.
func unseal(before string, line []byte) (record []byte, sum string, ok bool) {
	if record, _, ok = cut(line); !ok {
		return nil, "", false
	}
	sealed, sum := seal(before, record)
	return record, sum, bytes.Equal(sealed, line)
}

// cut takes the checksum out of a line, as it stands there.
func cut(line []byte) (record []byte, sum string, ok bool) {
	body := len(line) - len(sumField) - sumDigits - len(`"}`)
	if body < 1 || line[0] != '{' {
		return nil, "", false
	}
	sum = string(line[body+len(sumField) : len(line)-len(`"}`)])
	return append(bytes.Clone(bytes.TrimSuffix(line[:body], []byte(","))), '}'), sum, true
}
