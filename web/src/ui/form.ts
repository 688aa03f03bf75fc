// A form of the API: typed values kept as a draft in the browser, a refusal shown at its field, the focus moved there.
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { toFailure } from '../api/failure'

/** About a second. */
const FOCUS_FRAMES = 60

type Options<Values extends object> = {
  initial: Values
  /** Calls `isStored` once what was typed is no draft any more: whoever draws the form anew before it ends does so without. */
  submit: (values: Values, isStored: () => void) => Promise<unknown>
  /** Under this name what was typed survives a reload. Of secrets only the names do, so that the form asks for them again. */
  draft?: string
  secrets?: readonly (keyof Values & string)[]
}

export type Form<Values extends object> = ReturnType<typeof useForm<Values>>

export function useForm<Values extends object>({ initial, submit, draft, secrets = [] }: Options<Values>) {
  const [values, setValues] = useState<Values>(() => ({ ...initial, ...readDraft<Values>(draft) }))
  const [lost, setLost] = useState<readonly string[]>(() => readLost(draft))
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [refusal, setRefusal] = useState<{ message: string; attr: string | null } | null>(null)
  const [isBusy, setBusy] = useState(false)
  const element = useRef<HTMLFormElement>(null)
  const isSending = useRef(false)

  useEffect(() => {
    if (draft === undefined) return
    const kept = typed(values, initial, secrets)
    const names = secrets.filter((name) => lost.includes(name) || isTyped(name, values, initial))
    keep(`draft:${draft}`, kept, Object.keys(kept).length)
    keep(lostKey(draft), names, names.length)
  }, [draft, values, lost])

  const set = <Name extends keyof Values & string>(name: Name, value: Values[Name]) => {
    setValues((before) => ({ ...before, [name]: value }))
    setErrors(({ [name]: _gone, ...rest }) => rest)
    setLost((before) => before.filter((each) => each !== name))
  }

  function onSubmit(event?: FormEvent) {
    event?.preventDefault()
    // Asked again by somebody who got no answer yet: the button shows it a moment later.
    if (!isSending.current) void send()
  }

  async function send() {
    isSending.current = true
    setBusy(true)
    setErrors({})
    setRefusal(null)
    try {
      await submit(values, () => forgetDraft(draft))
      forgetDraft(draft)
    } catch (error) {
      const failure = toFailure(error)
      const field = fieldOf(failure.attr, values)
      if (field === null) setRefusal(failure)
      else setErrors({ [field]: failure.message })
      if (field !== null) focusSoon(() => element.current?.elements.namedItem(field))
    } finally {
      isSending.current = false
      setBusy(false)
    }
  }

  /** What a text field needs. */
  const field = <Name extends keyof Values & string>(name: Name) => ({
    name,
    value: values[name] as Values[Name] & string,
    error: errors[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      set(name, event.currentTarget.value as Values[Name]),
  })

  const reset = (next: Values = initial) => {
    forgetDraft(draft)
    setValues(next)
    setLost([])
    setErrors({})
    setRefusal(null)
  }

  const isChanged = Object.keys(typed(values, initial, [])).length > 0
  return {
    values,
    set,
    field,
    errors,
    /** Secrets that were typed before a reload and must be typed again. */
    lost,
    /** A refusal that belongs to no field of the form, and what the API says it is about. */
    problem: refusal?.message ?? null,
    problemAttr: refusal?.attr ?? null,
    dismissProblem: () => setRefusal(null),
    isBusy,
    isChanged,
    onSubmit,
    element,
    reset,
  }
}

/** `destination__config__bucket_name` and `config.bucket_name` belong to the field of that last name, if there is one. */
function fieldOf(attr: string | null, values: object): string | null {
  if (attr === null) return null
  const names = [attr, ...attr.split(/__|\./).toReversed()]
  return names.find((name) => name in values) ?? null
}

/** What differs from what was there: a draft must not bring back what somebody else has changed meanwhile. */
function typed<Values extends object>(
  values: Values,
  initial: Values,
  secrets: readonly string[],
): Partial<Values> {
  const isKept = (name: string) => !secrets.includes(name) && isTyped(name, values, initial)
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name))) as Partial<Values>
}

const isTyped = <Values extends object>(name: string, values: Values, initial: Values): boolean =>
  JSON.stringify(values[name as keyof Values]) !== JSON.stringify(initial[name as keyof Values])

function readDraft<Values>(draft: string | undefined): Partial<Values> {
  if (draft === undefined) return {}
  try {
    return JSON.parse(sessionStorage.getItem(`draft:${draft}`) ?? '{}') as Partial<Values>
  } catch {
    return {}
  }
}

const lostKey = (draft: string) => `draft:${draft}:secrets`

function readLost(draft: string | undefined): readonly string[] {
  if (draft === undefined) return []
  try {
    return JSON.parse(sessionStorage.getItem(lostKey(draft)) ?? '[]') as string[]
  } catch {
    return []
  }
}

function keep(key: string, kept: object, size: number): void {
  if (size === 0) sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, JSON.stringify(kept))
}

function forgetDraft(draft: string | undefined): void {
  if (draft === undefined) return
  sessionStorage.removeItem(`draft:${draft}`)
  sessionStorage.removeItem(lostKey(draft))
}

/** Once the message is in the page: a field may come with it, some frames later, and takes the focus only when it is not busy. */
function focusSoon(find: () => Element | RadioNodeList | null | undefined, frames = FOCUS_FRAMES): void {
  requestAnimationFrame(() => {
    const target = find()
    if (target instanceof HTMLElement) target.focus()
    if (document.activeElement !== target && frames > 0) focusSoon(find, frames - 1)
  })
}
