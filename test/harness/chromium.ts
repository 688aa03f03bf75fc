// The browser of the tests. Debian's headless shell takes two thirds of the CPU of its whole Chromium.
import { chromium, type Browser } from 'playwright-core'

export function launchChromium(...args: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', ...args],
  })
}
