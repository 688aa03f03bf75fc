// What the kernel says of a process and all that it started.
import { readdirSync, readFileSync } from 'node:fs'

export type TreeFigures = {
  /** CPU time used so far, also by processes that have ended. */
  cpu_s: number
  /** Memory held; a page that several processes share counts in parts (PSS). */
  memory_mb: number
}

const TICKS_PER_S = 100

/** Sums over several trees. Processes that end meanwhile count as far as they were seen. */
export function measureTrees(roots: readonly number[]): TreeFigures {
  const pids = [...new Set(roots.flatMap(treeOf))]
  return {
    cpu_s: pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    memory_mb: pids.reduce((sum, pid) => sum + memoryMb(pid), 0),
  }
}

function treeOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(treeOf)]
}

export function childrenOf(pid: number): number[] {
  const tasks = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []
  return tasks.flatMap((task) => {
    const text = attempt(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')) ?? ''
    return text.split(' ').filter(Boolean).map(Number)
  })
}

/** Its own, and that of children that ended, which the kernel adds to their parent. */
function cpuSeconds(pid: number): number {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (text === null) return 0
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / TICKS_PER_S, 0)
}

function memoryMb(pid: number): number {
  const text = attempt(() => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? ''
  const kib = /^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? '0'
  return (Number(kib) * 1024) / 1e6
}

/** Null when the process is gone. */
function attempt<Result>(read: () => Result): Result | null {
  try {
    return read()
  } catch {
    return null
  }
}
