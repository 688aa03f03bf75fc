// The thread's place behind others, taken before its other modules run: that is most of the work of its start.
import { workerData } from 'node:worker_threads'
import { standBack } from '../../stand-back.ts'
import type { ThreadOptions } from '../messages.ts'

standBack((workerData as ThreadOptions).priority)
