// What Linux tells about processes from outside: their children, environment and listening sockets.
import { readdir, readFile, readlink } from 'node:fs/promises'

/** A process and all below it. */
export async function treeOf(pid: number): Promise<number[]> {
  const parents = await parentsByPid()
  const tree = [pid]
  for (const member of tree) {
    for (const [child, parent] of parents) if (parent === member) tree.push(child)
  }
  return tree
}

async function parentsByPid(): Promise<Map<number, number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = new Map<number, number>()
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    // The name in brackets may hold anything; state and parent come after it.
    const parent = /\) \S (\d+)/.exec(text.slice(text.lastIndexOf(')')))?.[1]
    if (parent !== undefined) parents.set(Number(pid), Number(parent))
  }
  return parents
}

/** Time of processors that a process has used, without its children. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // Ticks of 10 ms, in user and in system mode.
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** What a process and all below it hold in memory. */
export async function memoryMbOf(pid: number): Promise<number> {
  const pages = await Promise.all((await treeOf(pid)).map(residentPages))
  return pages.reduce((sum, each) => sum + each, 0) / 256
}

/** Pages of 4 kB; none for a process that has just ended. */
async function residentPages(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '0 0')
  return Number(text.split(' ')[1])
}

/** Names of the variables a process was started with. */
export async function environmentOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8')
  return text.split('\0').flatMap((entry) => entry.split('=', 1)[0] || [])
}

/** Local `address:port` of every TCP socket that one of these processes listens on. */
export async function tcpListenersOf(pids: readonly number[]): Promise<string[]> {
  const owned = new Set((await Promise.all(pids.map(socketsOf))).flat())
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  )
  return tables
    .flatMap((table) => table.trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && owned.has(inode ?? ''))
    .map(([, local]) => readable(local ?? ''))
}

const LISTENING = '0A'

async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [])
}

/** `0100007F:1F90` is 127.0.0.1:8000: bytes of the address backwards, both in hexadecimal. */
function readable(local: string): string {
  const [address = '', port = ''] = local.split(':')
  const bytes =
    address.length === 8
      ? address
          .match(/../g)!
          .toReversed()
          .map((byte) => Number.parseInt(byte, 16))
      : [address]
  return `${bytes.join('.')}:${Number.parseInt(port, 16)}`
}
