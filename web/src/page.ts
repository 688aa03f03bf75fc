// What the server wrote into the page itself (src/app/console/serve.ts).

const told = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content ?? ''

/** What the page's policy lets styles of our own code in by. */
export const styleNonce = (): string => told('nonce')

/** Whether the browser came without a session: then there is nobody to ask the API for. */
export const isStranger = (): boolean => told('session') === 'none'
