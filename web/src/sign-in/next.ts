/** Where to go after signing in: a page of our own and nothing else, however it is spelled. */
export function nextOf(next: unknown, origin: string = location.origin): string {
  if (typeof next !== 'string' || !URL.canParse(next, origin)) return '/'
  const url = new URL(next, origin)
  // A path that begins with two slashes would be read as another host.
  const isOurs = url.origin === origin && !url.pathname.startsWith('//')
  return isOurs && !beginsSignIn(url.pathname) ? `${url.pathname}${url.search}${url.hash}` : '/'
}

/** Whoever has just signed in is linked by what a provider says: no link that somebody else made may lead them to one. */
function beginsSignIn(path: string): boolean {
  try {
    return /^\/+(login|complete)\/+./.test(decodeURIComponent(path))
  } catch {
    return true
  }
}
