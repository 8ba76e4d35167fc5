// Package queue does a run of mdmgen on machines that come and go: the parts of the run are
// tasks in a queue of NATS JetStream, which workers take one at a time.
//
//   - The stream of tasks is a work queue: a task is one worker's until it acknowledges it, and
//     is given to another where it stops saying that it is in progress.
//   - The stream of results holds one message a part and refuses a second: what two workers
//     did, because one was thought dead, is there once. Which one it is makes no difference, for
//     parts are functions of the run and their number.
//   - A result that is not its part, see [app.CheckPart], is removed by whoever reads it, and its task
//     is queued again.
//   - A task that was given out several times and never finished is a dead letter: status counts it,
//     and submitting the run again, when no part is running, queues it again.
//
// A worker does nothing before it has found that the run is the one submitted: the same model, input,
// settings, version and kind of machine, by the header of package chunks. It has the run open, with its model, until no task is left, and opens it anew after
// a part that failed; a part that ends the process is a delivery of each task that it had.
//
// This is a module of its own, so that the program itself does not carry a server.
package queue
