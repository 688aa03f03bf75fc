// What a console costs the server that is left open on the overview, beside the same time without one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServedConsole } from './served-console.ts'

const SECONDS = 60

export async function printLeftOpen(served: ServedConsole): Promise<boolean> {
  const alone = await cpuMs(served)
  const context = await served.enter()
  try {
    const page = await context.newPage()
    await page.goto(`${served.project}/overview`)
    await page.getByText('live', { exact: true }).waitFor({ timeout: 60_000 })
    const opened = await cpuMs(served)
    await served.capture('still here')
    // The only one that has come since.
    await page
      .locator('dl > div', { hasText: 'events in the last minute' })
      .getByText('1', { exact: true })
      .waitFor({ timeout: 60_000 })
    console.log(
      `left open on the overview for ${SECONDS} s: ${(opened - alone).toFixed(0)} ms of the server's CPU, ` +
        `${((opened - alone) / SECONDS / 10).toFixed(2)} % of a processor (the server without it: ${alone.toFixed(0)} ms)`,
    )
    return true
  } finally {
    await context.close()
  }
}

async function cpuMs({ cpuSeconds }: ServedConsole): Promise<number> {
  const before = await cpuSeconds()
  await sleep(SECONDS * 1000)
  return ((await cpuSeconds()) - before) * 1000
}
