// Keeps a share of the events. The same person or event always gets the same answer, on every server and after every
// restart, and whoever is kept at 10 % is kept at 20 % too.
import { createHash } from 'node:crypto'
import type { InlineApp } from './inline-app.ts'
import { readNames } from './settings.ts'

const BY_PERSON = 'Distinct ID aware sampling'
const BY_EVENT = 'Random sampling'

export const downsampling: InlineApp = {
  url: 'inline:downsampling',
  name: 'Downsampling',
  description: 'Stores only a share of the events: those of some distinct ids, or some events of everybody.',
  removes: true,
  config_schema: [
    {
      key: 'percentage',
      name: '% of events to keep',
      type: 'string',
      default: '100',
      required: true,
      hint: 'A number from 0 to 100.',
    },
    {
      key: 'samplingMethod',
      name: 'Sampling method',
      type: 'choice',
      choices: [BY_PERSON, BY_EVENT],
      default: BY_PERSON,
      hint: 'By distinct id, all events of somebody are kept or none.',
    },
    {
      key: 'triggeringEvents',
      name: 'Events to sample',
      type: 'string',
      default: '',
      hint: 'Separated by commas; the others are all kept. Empty: every event.',
    },
  ],
  open(config) {
    const sampled = readNames(config, 'triggeringEvents')
    const percentage = readPercentage(config.percentage)
    const isByEvent = config.samplingMethod === BY_EVENT
    return (event) => {
      if (sampled.size > 0 && !sampled.has(event.event)) return event
      if (percentage === null) throw new Error('The percentage is not a number from 0 to 100.')
      return placeOf(isByEvent ? event.uuid : event.distinct_id) < percentage ? event : null
    }
  },
}

/** Null for what is none. */
function readPercentage(value: unknown): number | null {
  const percentage = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof percentage === 'number' && percentage >= 0 && percentage <= 100 ? percentage : null
}

/** From 0 to just below 100, evenly spread. */
function placeOf(key: string): number {
  return (createHash('sha256').update(key).digest().readUIntBE(0, 6) / 2 ** 48) * 100
}
