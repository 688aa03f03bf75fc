// One message of a stream of server-sent events, and its text.

export type Message = {
  /** What happened; clients listen to it by this name. */
  event: string
  /** A client that lost the connection sends the last one back, and gets what came after it. */
  id?: number
  /** JSON. */
  data: string
}

export function message(event: string, data: unknown, id?: number): Message {
  return { event, data: JSON.stringify(data), ...(id === undefined ? {} : { id }) }
}

const LINE_END = /\r\n|\r|\n/

export function messageText({ event, id, data }: Message): string {
  // Stored JSON may have line ends between its values, and each would end the field.
  const lines = LINE_END.test(data) ? data.split(LINE_END).join('\ndata: ') : data
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${lines}\n\n`
}

/** Tells a position and nothing else: clients keep it and call nobody. */
export function positionText(id: number): string {
  return `id: ${id}\n\n`
}
