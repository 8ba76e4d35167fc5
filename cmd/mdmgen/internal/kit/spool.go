package kit

import (
	"bytes"
	"io"
	"os"
)

// spoolMemory is how much of a [Spool] is in memory, in bytes.
const spoolMemory = 4 << 20

// Spool keeps results that are printed later than they are made, in memory as long as they are
// few, then in a temporary file. The zero value is empty.
type Spool struct {
	buf  bytes.Buffer
	file *os.File
}

// Write keeps p.
func (s *Spool) Write(p []byte) (int, error) {
	n, _ := s.buf.Write(p)
	if s.buf.Len() <= spoolMemory {
		return n, nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "mdmgen-*.tmp")
		if err != nil {
			return 0, err
		}
		s.file = f
	}
	_, err := s.buf.WriteTo(s.file)
	return n, err
}

// Item keeps a record as an item of a list in JSON.
func (s *Spool) Item(record any) error {
	line, err := JSONLine(record)
	if err != nil {
		return err
	}
	if s.file != nil || s.buf.Len() > 0 {
		line = append([]byte(","), line...)
	}
	_, err = s.Write(line)
	return err
}

// WriteTo writes what was kept. It may be called once.
func (s *Spool) WriteTo(w io.Writer) (int64, error) {
	var n int64
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		m, err := io.Copy(w, s.file)
		if n = m; err != nil {
			return n, err
		}
	}
	m, err := s.buf.WriteTo(w)
	return n + m, err
}

// Close removes the file. It may be called again.
func (s *Spool) Close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}

// WriteRecordWith is WriteRecord as json of a record whose field list, which is an empty list,
// has the items of a spool.
func WriteRecordWith(out *Output, record any, list string, items *Spool) error {
	line, err := JSONLine(record)
	if err != nil {
		return err
	}
	// A quotation mark in a text is escaped: only the field itself is written so.
	before, after, found := bytes.Cut(line, []byte(`"`+list+`":[]`))
	if !found {
		panic("kit: a record without the list " + list)
	}
	out.Write(before) // A failure is kept until Flush.
	out.WriteString(`"` + list + `":[`)
	if _, err := items.WriteTo(out); err != nil {
		return err
	}
	out.WriteByte(']')
	out.Write(append(after, '\n'))
	return nil
}
