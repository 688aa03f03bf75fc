// What the kernel says of processes.
import { readFileSync } from 'node:fs'

const TICKS_PER_S = 100

/** The most memory that the process has held so far. */
export function peakMb(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return (Number(kib) * 1024) / 1e6
}

/** What a PostgreSQL has used: its children count, and those that have ended, which the kernel adds to their parent. */
export function postgresCpuS(postmaster: number): number {
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
  const { own, ended } = cpuS(postmaster)
  return children.reduce((sum, child) => sum + cpuS(Number(child)).own, own + ended)
}

/** What one process has used. */
export function processCpuS(pid: number): number {
  return cpuS(pid).own
}

/** What children of this process had used when they ended. */
export function endedChildrenCpuS(): number {
  return cpuS(process.pid).ended
}

function cpuS(pid: number): { own: number; ended: number } {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // It ended meanwhile.
    return { own: 0, ended: 0 }
  }
  const [user, system, ended_user, ended_system] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map((ticks) => Number(ticks) / TICKS_PER_S)
  return { own: user! + system!, ended: ended_user! + ended_system! }
}
