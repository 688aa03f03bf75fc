/** Where to go after signing in: an address of our own and nothing else, however it is spelled. */
export function nextOf(next: unknown, origin: string = location.origin): string {
  if (typeof next !== 'string' || !URL.canParse(next, origin)) return '/'
  const url = new URL(next, origin)
  // A path that begins with two slashes would be read as another host.
  const isOurs = url.origin === origin && !url.pathname.startsWith('//')
  return isOurs ? `${url.pathname}${url.search}${url.hash}` : '/'
}
