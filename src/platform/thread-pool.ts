// A thread that lives for a moment, before anything else has started Node's thread pool: the pool is started from here,
// so that its threads stand back, and with them those of the event store's engine, which are started from the pool. An
// export may keep every core busy, and requests are answered as if it did not run.
import { access } from 'node:fs'
import { lowerPriority } from './thread-priority.ts'

lowerPriority('work')
access('.', () => undefined)
