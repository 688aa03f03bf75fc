// Which browser and system a User-Agent header speaks of, in words for people. Nothing is decided by it.

export type Browser = { browser: string | null; system: string | null }

/** Longer ones are no browser's: nothing after this is looked at. */
const MAX_LENGTH = 400

// Browsers name those they are built on or want to be taken for, so the most particular comes first.
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:Edg|EdgA|EdgiOS|Edge)\/(\d{1,4})/, 'Edge'],
  [/\b(?:OPR|OPT|Opera)\/(\d{1,4})/, 'Opera'],
  [/\bSamsungBrowser\/(\d{1,4})/, 'Samsung Internet'],
  [/\bVivaldi\/(\d{1,4})/, 'Vivaldi'],
  [/\bYaBrowser\/(\d{1,4})/, 'Yandex Browser'],
  [/\bDuckDuckGo\/(\d{1,4})/, 'DuckDuckGo'],
  [/\b(?:Firefox|FxiOS)\/(\d{1,4})/, 'Firefox'],
  [/\bHeadlessChrome\/(\d{1,4})/, 'Headless Chrome'],
  [/\b(?:Chrome|CriOS|Chromium)\/(\d{1,4})/, 'Chrome'],
  [/\bVersion\/(\d{1,4})[^ ]* (?:Mobile\/\w{1,20} )?Safari\//, 'Safari'],
  [/^curl\/(\d{1,4})/, 'curl'],
]

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPad\b/, 'iPadOS'],
  [/\b(?:iPhone|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bFreeBSD\b/, 'FreeBSD'],
  [/\bLinux\b/, 'Linux'],
]

export function browserOf(userAgent: string | undefined): Browser {
  const text = (userAgent ?? '').slice(0, MAX_LENGTH)
  const browser = BROWSERS.find(([pattern]) => pattern.test(text))
  return {
    browser: browser ? `${browser[1]} ${browser[0].exec(text)![1]}` : null,
    system: SYSTEMS.find(([pattern]) => pattern.test(text))?.[1] ?? null,
  }
}
