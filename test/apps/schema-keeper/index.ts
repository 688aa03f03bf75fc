// Reads an attachment; stops events by throwing, which must not lose them, or by returning nothing.
type Schema = Record<string, string[]>

export function setupPlugin({ attachments, global }: any) {
  if (!attachments.schema) throw new Error('no schema was uploaded')
  global.schema = JSON.parse(attachments.schema.contents.toString()) as Schema
}

export function processEvent(event: any, { global }: any) {
  const wanted: string[] | undefined = global.schema[event.event]
  if (!wanted) throw new Error(`no rule for ${event.event}`)
  const missing = wanted.filter((name) => !(name in event.properties))
  if (missing.length === 0) return event
  console.warn('dropped', event.event, { missing })
}
