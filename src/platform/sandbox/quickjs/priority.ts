// The thread's place behind others, taken before its other modules run: that is most of the work of its start.
import { workerData } from 'node:worker_threads'
import { lowerPriority } from '../../thread-priority.ts'
import type { ThreadOptions } from '../messages.ts'

lowerPriority((workerData as ThreadOptions).priority)
