// How much of the processors' time other machines on the same hardware took meanwhile: a run that lost much of it says
// little.
import { readFileSync } from 'node:fs'

/** A share, from now on until the answer is asked for; null where the system does not tell. */
export function watchStolen(): () => number | null {
  const before = times()
  return () => {
    const after = times()
    if (!before || !after) return null
    return (after.stolen - before.stolen) / (after.all - before.all)
  }
}

function times(): { stolen: number; all: number } | null {
  if (process.platform !== 'linux') return null
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  // user, nice, system, idle, iowait, irq, softirq, steal; guests after that are counted in user already.
  const fields = line!.split(/\s+/).slice(1, 9).map(Number)
  return { stolen: fields[7]!, all: fields.reduce((sum, field) => sum + field, 0) }
}
