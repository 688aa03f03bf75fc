/** Where to go after signing in: an address of our own and nothing else, however it is spelled. */
export function nextOf(next: unknown): string {
  if (typeof next !== 'string' || !/^\/(?![/\\])/.test(next)) return '/'
  const url = new URL(next, location.origin)
  return url.origin === location.origin ? `${url.pathname}${url.search}${url.hash}` : '/'
}
