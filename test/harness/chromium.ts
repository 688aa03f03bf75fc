// The browser of the tests. Debian's headless shell takes two thirds of the CPU of its whole Chromium.
import { chromium, type Browser } from 'playwright-core'

export const CHROMIUM = '/usr/bin/chromium-headless-shell'

/** `hosts`: where it finds names that are in no DNS, by `host:port`. */
export function launchChromium(hosts: Record<string, string> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([host, server]) => `MAP ${host} ${server}`)
  // Pages of tests live for seconds: code that would be made faster for later takes a fifth of the CPU.
  const args = ['--no-sandbox', '--js-flags=--no-opt']
  if (rules.length > 0) args.push(`--host-resolver-rules=${rules.join()}`)
  return chromium.launch({ executablePath: CHROMIUM, args })
}
