// The thread that estimates how hard passwords are to guess (started by strength.ts).
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common'
import { dictionary as english, translations } from '@zxcvbn-ts/language-en'
import { parentPort } from 'node:worker_threads'
import { standBack } from '../../platform/stand-back.ts'
import type { Question } from './strength.ts'

standBack('work')

const zxcvbn = new ZxcvbnFactory({
  graphs: adjacencyGraphs,
  dictionary: { ...common, ...english },
  translations,
})

parentPort!.on('message', ({ password, words }: Question) =>
  parentPort!.postMessage(zxcvbn.check(password, [...words]).score),
)
