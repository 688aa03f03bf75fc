// A table of 10,000 rows, scrolled from its top to its end: how long the longest frame was, and how much of it was work.
import { EVENTS, type ServedConsole } from './served-console.ts'

const MOST_FRAME_MS = 50
const STEPS = 400
const QUERY = `select uuid, event, timestamp, distinct_id, properties.$browser from events order by timestamp limit ${EVENTS}`

const TABLE = `[role=table][aria-rowcount="${EVENTS + 1}"]`
const CATEGORIES = ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata']

type Traced = {
  traceEvents: {
    name: string
    ph: string
    pid: number
    tid: number
    tdur?: number
    args?: { name?: string }
  }[]
}

/** False when a frame took more than it may. */
export async function printScrolling({ browser, enter, project }: ServedConsole): Promise<boolean> {
  const context = await enter()
  try {
    const page = await context.newPage()
    await page.goto(`${project}/sql?q=${encodeURIComponent(QUERY)}`)
    await page.locator(TABLE).waitFor({ timeout: 60_000 })
    await page.waitForTimeout(1_000)
    await browser.startTracing(page, { categories: CATEGORIES })
    const frames = (await page.evaluate(SCROLL)) as number[]
    const work = workOf(JSON.parse((await browser.stopTracing()).toString()) as Traced)
    await page.locator(`[aria-rowindex="${EVENTS + 1}"]`).waitFor()
    const isMet = work <= MOST_FRAME_MS
    console.log(
      `scrolling ${EVENTS} rows in ${frames.length} frames: the longest task of the page took ${work.toFixed(1)} ms of CPU; ` +
        `goal: at most ${MOST_FRAME_MS}: ${isMet ? 'met' : 'NOT met'} (longest frame by the clock ${Math.max(...frames).toFixed(0)} ms, ` +
        `${frames.filter((ms) => ms > MOST_FRAME_MS).length} over ${MOST_FRAME_MS} ms)`,
    )
    return isMet
  } finally {
    await context.close()
  }
}

/** Gives the time between frames. */
const SCROLL = `new Promise((resolve) => {
  const scroller = document.querySelector('${TABLE}').parentElement
  const step = scroller.scrollHeight / ${STEPS}
  const frames = []
  let last = performance.now()
  const next = (now) => {
    frames.push(now - last)
    last = now
    const isEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1
    if (isEnd || frames.length > ${STEPS * 2}) return resolve(frames.slice(1))
    scroller.scrollTop += step
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})`

/** The longest task on a page's main thread, by the time it had a processor: others on the machine do not count. */
function workOf({ traceEvents }: Traced): number {
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const times = traceEvents
    .filter(
      ({ name, ph, pid, tid }) => name.endsWith('RunTask') && ph === 'X' && threads.has(`${pid} ${tid}`),
    )
    .map(({ tdur = 0 }) => tdur / 1000)
  if (times.length < STEPS / 2) throw new Error(`only ${times.length} tasks were traced`)
  return Math.max(...times)
}
