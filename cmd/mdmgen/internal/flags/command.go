package flags

import (
	"context"
	"slices"

	"mdmgen/internal/exit"
)

// Program is the program with its commands.
type Program struct {
	Name, Usage, Description string
	Commands                 Commands
}

// Command is a command: its help, its flags and what it does.
type Command struct {
	Name, Usage string
	// ArgsUsage names the arguments in the help, "" if the command takes flags only.
	ArgsUsage   string
	Description string
	Flags       Set
	// Args, if not nil, returns an error for arguments that the command does not take.
	Args func(command string, args []string) error
	// Run is called with the arguments, after the flags have been read.
	Run func(ctx context.Context, args []string) error
}

// Do checks the arguments and runs the command.
func (c *Command) Do(ctx context.Context, args []string) error {
	if c.Args != nil {
		if err := c.Args(c.Name, args); err != nil {
			return err
		}
	}
	return c.Run(ctx, args)
}

// NoArguments returns an error if a command that takes flags only is given arguments.
func NoArguments(command string, args []string) error {
	if len(args) > 0 {
		return exit.Usagef("%s: unexpected argument %q; it takes flags only", command, args[0])
	}
	return nil
}

// AtMostOne returns a function that rejects a second argument and an empty one; what describes the
// argument.
func AtMostOne(what string) func(command string, args []string) error {
	return func(command string, args []string) error {
		switch {
		case len(args) > 1:
			return exit.Usagef("%s: unexpected argument %q; %s", command, args[1], what)
		case len(args) == 1 && args[0] == "":
			return exit.Usagef("%s: the argument is empty: %s, or leave it out", command, what)
		}
		return nil
	}
}

// Commands are commands in the order of the help.
type Commands []*Command

// Find returns the command with a name, nil for none.
func (l Commands) Find(name string) *Command {
	if i := slices.IndexFunc(l, func(c *Command) bool { return c.Name == name }); i >= 0 {
		return l[i]
	}
	return nil
}

// Names returns the names.
func (l Commands) Names() (names []string) {
	for _, c := range l {
		names = append(names, c.Name)
	}
	return names
}
