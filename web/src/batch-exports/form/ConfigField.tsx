import {
  Button,
  Input,
  NumberInput,
  PasswordInput,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { Status } from '../../ui/Status'
import classes from './ConfigFields.module.css'
import { EventNames } from './EventNames'
import { useExportForm } from './ExportForm'
import { namesOfSecrets, type Field } from './fields'
import { textOf } from './values'

/** One field of a destination, by what its schema says of it. */
export function ConfigField({ field }: { field: Field }) {
  const { form } = useExportForm()
  const { name, title, description, kind, isRequired } = field
  const value = form.values[name]
  const set = (next: unknown) => form.set(name, next as never)
  const common = { name, label: labelOf(field), description, error: form.errors[name], required: isRequired }

  switch (kind) {
    case 'secret':
      return <SecretField field={field} />
    case 'flag':
      return (
        <Switch
          name={name}
          label={title}
          description={description}
          error={form.errors[name]}
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          data={field.choices}
          value={textOf(value) || null}
          placeholder={field.isNullable ? 'None' : undefined}
          clearable={field.isNullable}
          clearButtonProps={{ 'aria-label': `Clear ${title}` }}
          allowDeselect={field.isNullable}
          onChange={(next) => set(next ?? '')}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          value={value as number | string}
          allowDecimal={false}
          hideControls
          {...(field.min === undefined ? {} : { min: field.min })}
          {...(field.max === undefined ? {} : { max: field.max })}
          placeholder={field.isNullable ? 'None' : undefined}
          onChange={set}
        />
      )
    case 'names':
      return name.endsWith('_events') ? (
        <EventNames {...common} value={value as string[]} onChange={set} />
      ) : (
        <TagsInput {...common} value={value as string[]} onChange={set} />
      )
    case 'text':
      return (
        <TextInput
          {...common}
          value={textOf(value)}
          placeholder={field.example === null ? undefined : field.example}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => set(event.currentTarget.value)}
        />
      )
  }
}

/** Typed once and never shown again: a stored one is only replaced. */
function SecretField({ field }: { field: Field }) {
  const { name, title, description, isRequired, isLong } = field
  const { form, kind, isStored } = useExportForm()
  const [isReplacing, setReplacing] = useState(false)
  const [isAskedFor, setAskedFor] = useState(false)
  // The server names one secret that a change needs again; it will want the others too.
  if (!isAskedFor && namesOfSecrets(kind.config).some((secret) => form.errors[secret] !== undefined))
    setAskedFor(true)
  const isLost = form.lost.includes(name)
  const error =
    form.errors[name] ?? (isLost ? `Enter the ${inSentence(title)} again: it is not kept.` : undefined)
  const value = textOf(form.values[name])
  const isOpen = !isStored || isReplacing || isAskedFor || isLost || value !== ''
  if (!isOpen)
    return (
      <Input.Wrapper label={title} description={description} labelElement="div">
        <div className={classes.stored}>
          <Status kind="delivered">stored</Status>
          <Button
            variant="default"
            size="compact-sm"
            aria-label={`Replace ${title}`}
            onClick={() => setReplacing(true)}
          >
            Replace
          </Button>
        </div>
      </Input.Wrapper>
    )
  const common = {
    name,
    label: labelOf(field),
    description,
    error,
    value,
    required: isRequired && !isStored,
    autoComplete: 'off',
    spellCheck: false,
    autoFocus: isReplacing,
    onChange: (event: { currentTarget: { value: string } }) =>
      form.set(name, event.currentTarget.value as never),
  }
  return isLong ? (
    <Textarea {...common} autosize minRows={3} maxRows={8} classNames={{ input: 'mono' }} />
  ) : (
    <PasswordInput {...common} autoComplete="new-password" />
  )
}

const labelOf = ({ title, isRequired, isNullable }: Field): string =>
  isRequired || !isNullable ? title : `${title} (optional)`

/** `Access key id` within a sentence; `SAS token` stays as it is. */
const inSentence = (title: string): string =>
  /^[A-Z][a-z]/.test(title) ? title[0]!.toLowerCase() + title.slice(1) : title
