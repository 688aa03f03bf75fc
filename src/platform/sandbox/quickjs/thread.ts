// A thread of the sandbox: takes work from the main thread, and carries apps' requests to it.
import './priority.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { describeFault, type FromThread, type ThreadOptions, type ToThread, type Work } from '../messages.ts'
import { RunningWord } from '../running-word.ts'
import { Apps } from './apps.ts'
import { Caches } from './cache.ts'
import { openEngine } from './engine.ts'
import { Formats } from './formats.ts'
import { openLocate } from './geoip.ts'
import { Requests } from './requests.ts'

const { limits, word: memory, geoip_database } = workerData as ThreadOptions
const port = parentPort!
const post = (message: FromThread) => port.postMessage(message)
const word = new RunningWord(memory)
const requests = new Requests(post)
const around = {
  post,
  requests,
  locate: openLocate(geoip_database),
  caches: new Caches(),
  formats: new Formats(),
}
const apps = new Apps(await openEngine(limits.memory_bytes, word), limits, around)

function answer(id: number, work: Promise<unknown>): void {
  work
    .then((result) => post({ kind: 'done', id, result }))
    .catch((error: unknown) => post({ kind: 'failed', id, fault: describeFault(error) }))
}

/** Outcomes of events go back as one text: that is made and read in less time than a copy of all those small objects. */
async function carryOut(app_id: number, work: Work): Promise<unknown> {
  const result = await apps.carryOut(app_id, work)
  return work.kind === 'events' ? JSON.stringify(result) : result
}

function begin(id: number): void {
  word.take(id)
  post({ kind: 'begun', id })
}

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'app':
      return apps.put(message.app)
    case 'answer':
      return requests.settle(message.request_id, message.answer)
    case 'work':
      begin(message.id)
      if (!apps.has(message.app_id, message.version)) return post({ kind: 'unknown', id: message.id })
      return answer(message.id, carryOut(message.app_id, message.work))
    case 'inspect':
      begin(message.id)
      return answer(message.id, apps.inspect(-message.id, message.code, message.mappings))
    case 'dispose':
      begin(message.id)
      return answer(message.id, apps.dispose(message.app_id))
    case 'close':
      return void apps.disposeAll().finally(() => post({ kind: 'closed' }))
    default:
      return message satisfies never
  }
})
setInterval(() => void apps.disposeIdle(), Math.min(limits.idle_ms, 60_000)).unref()
post({ kind: 'ready' })
