// The thread that estimates how hard passwords are to guess (started by strength.ts).
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common'
import { dictionary as english, translations } from '@zxcvbn-ts/language-en'
import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../../platform/thread-priority.ts'
import type { Question } from './strength.ts'

lowerPriority('work')

/** Whoever guesses the beginning has not guessed the rest. Four times as much takes five times as long: five seconds. */
const LOOKED_AT = 64

const zxcvbn = new ZxcvbnFactory({
  graphs: adjacencyGraphs,
  dictionary: { ...common, ...english },
  translations,
  maxLength: LOOKED_AT,
})

parentPort!.on('message', ({ password, words }: Question) =>
  parentPort!.postMessage(zxcvbn.check(password, [...words]).score),
)
