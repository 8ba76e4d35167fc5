// Package queue runs mdmgen on machines that come and go: the parts of a run are tasks in a queue
// of NATS JetStream, which workers take one at a time.
//
//   - The stream of tasks is a work queue: a task belongs to one worker until it acknowledges it. If
//     the worker stops reporting progress, another one gets the task.
//   - The stream of results holds one message per part and rejects a second: if two workers
//     computed a part, because one was thought dead, its result is stored once. It does not matter
//     whose, because a part is a function of the run and its number.
//   - A reader removes a result that is not its part, see [app.CheckPart], and queues its task
//     again.
//   - A task that was delivered several times and never finished is a dead letter: status counts it,
//     and submitting the run again, when no part is running, queues it again.
//
// A worker first checks, by the header of package chunks, that its run is the one submitted: the
// same model, input, settings, version and kind of machine. It keeps the run and its model open
// until no task is left, and reopens them after a part that failed. A part that ends the process
// counts as a delivery of each task that the process had.
//
// This is a separate module, so that the program itself does not include a server.
package queue
