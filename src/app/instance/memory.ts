// What the server and the processes it has started hold in memory, beside what they may have.
import { readdir, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { groupBy } from '../../lib/group-by.ts'
import { keptFor } from '../../lib/kept-for.ts'

export type MemoryFacts = {
  /** Memory of all processes; what several share is counted once. */
  bytes: number
  processes: { name: string; count: number; bytes: number }[]
  /** Set for the group of processes from outside, as a container does; null: the machine's. */
  limit_bytes: number | null
  machine_bytes: number
}

type Process = { pid: number; parent: number; name: string; own_bytes: number; shared_bytes: number }

const KEPT_MS = 5_000

/** `others` are processes that belong to the server though it has not started them. */
export function memoryReader(now: () => Date, others: () => Promise<number[]>): () => Promise<MemoryFacts> {
  return keptFor(KEPT_MS, now, async () => readMemory(await others()))
}

async function readMemory(others: readonly number[]): Promise<MemoryFacts> {
  const processes = process.platform === 'linux' ? await treeOf([process.pid, ...others]) : []
  const all = processes.length > 0 ? processes : [ownProcess()]
  const groups = groupBy(all, nameOf)
  const limit = process.constrainedMemory()
  return {
    bytes: sum(all.map(({ own_bytes }) => own_bytes)) + Math.max(...all.map((one) => one.shared_bytes)),
    processes: [...groups].map(([name, group]) => ({
      name,
      count: group.length,
      bytes: sum(group.map((one) => one.own_bytes)) + Math.max(...group.map((one) => one.shared_bytes)),
    })),
    limit_bytes: limit > 0 && limit < totalmem() ? limit : null,
    machine_bytes: totalmem(),
  }
}

function nameOf({ pid, name }: Process): string {
  if (pid === process.pid) return 'server'
  return name === 'postgres' ? 'postgresql' : 'workers'
}

async function treeOf(roots: readonly number[]): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const all = (await Promise.all(pids.map(readProcess))).filter((one) => one !== null)
  const children = groupBy(all, ({ parent }) => parent)
  const tree = new Set<Process>()
  const add = (one: Process) => {
    if (tree.has(one)) return
    tree.add(one)
    for (const child of children.get(one.pid) ?? []) add(child)
  }
  for (const one of all) if (roots.includes(one.pid)) add(one)
  return [...tree]
}

/** Null: it has ended meanwhile. */
async function readProcess(pid: number): Promise<Process | null> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null)
  if (text === null) return null
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text)?.[1] ?? ''
  const bytes = (name: string) => Number(field(name)) * 1024
  return {
    pid,
    parent: Number(field('PPid')),
    name: field('Name'),
    own_bytes: bytes('RssAnon'),
    shared_bytes: bytes('RssShmem'),
  }
}

function ownProcess(): Process {
  return {
    pid: process.pid,
    parent: 0,
    name: 'node',
    own_bytes: process.memoryUsage.rss(),
    shared_bytes: 0,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
