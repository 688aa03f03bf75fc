// Apps that mean harm, and a server of their own for those that call somebody.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** How often an event comes to them. */
export const ATTACK_EVERY_MS = 50
const LINES_A_SECOND = 10_000

/** `shows_by`: what there is to see of it when it is at work. Those who hit limits are switched off in the end. */
export type Attacker = { name: string; code: string; shows_by: 'log lines' | 'requests' | 'limits' }

/** Names of some of them, to see who does how much. */
const ONLY = process.env.PLUGIN_BENCH_ATTACKERS?.split(',')

export function attackers(target_port: number): Attacker[] {
  return all(target_port).filter(({ name }) => ONLY?.includes(name) ?? true)
}

function all(target_port: number): Attacker[] {
  const lines = (LINES_A_SECOND * ATTACK_EVERY_MS) / 1000
  return [
    {
      name: 'chatter',
      shows_by: 'log lines',
      code: `export function processEvent(event) {
        for (let line = 0; line < ${lines}; line++) console.log('line ' + line)
        return event
      }`,
    },
    {
      name: 'fetch',
      shows_by: 'requests',
      code: `export async function onEvent() {
        const calls = Array.from({ length: 50 }, () => fetch('http://127.0.0.1:${target_port}/').catch(() => null))
        await Promise.all(calls)
      }`,
    },
    {
      name: 'memory',
      shows_by: 'limits',
      code: `export function processEvent() {
        const all = []
        while (true) all.push(new Array(1000).fill(1))
      }`,
    },
    {
      name: 'loop',
      shows_by: 'limits',
      code: `export function processEvent() { while (true) {} }`,
    },
    {
      // Work inside one call of the engine, where nothing looks at the time.
      name: 'native',
      shows_by: 'limits',
      code: `export function processEvent() {
        const text = 'x'.repeat(1000000)
        while (true) text.split('').reverse().join('')
      }`,
    },
  ]
}

const TARGET = `
  let requests = 0
  const server = require('node:http').createServer((_, response) => { requests++; response.end('ok') })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
  process.on('message', () => process.send(requests))
  process.on('disconnect', () => process.exit())`

export type Target = { port: number; requests(): Promise<number>; stop(): Promise<void> }

/** In a process of its own: what it takes to answer must not delay whoever measures. */
export async function startTarget(): Promise<Target> {
  const child = spawn(process.execPath, ['--eval', TARGET], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    async requests() {
      child.send('report')
      const [requests] = (await once(child, 'message')) as [number]
      return requests
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
