// The browser of the tests. Debian's headless shell takes two thirds of the CPU of its whole Chromium.
import { chromium, type Browser } from 'playwright-core'

/** `hosts`: where it finds names that are in no DNS, by `host:port`. */
export function launchChromium(hosts: Record<string, string> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([host, server]) => `MAP ${host} ${server}`)
  const args = ['--no-sandbox', ...(rules.length > 0 ? [`--host-resolver-rules=${rules.join()}`] : [])]
  return chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args })
}
