//go:build !linux

package room

func memory() (uint64, bool) { return 0, false }

func left() (uint64, bool) { return 0, false }

func resident() (uint64, bool) { return 0, false }
