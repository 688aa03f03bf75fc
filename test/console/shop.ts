// A web site of somebody who has just pasted the console's snippet into it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page on another site that has the snippet. */
export async function openShop(snippet: string): Promise<{ url: string; close(): void }> {
  // Otherwise the library takes a browser that is driven for a robot.
  const html = snippet.replace("defaults: '", "opt_out_useragent_filter: true, defaults: '")
  const server = createServer((_request, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><title>Shop</title><link rel="icon" href="data:,">${html}`),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() }
}
