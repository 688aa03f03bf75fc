// One setting of an app, by its type. Stored secrets are not seen again: they stay, or something takes their place.
import { Button, FileInput, Input, PasswordInput, Select, Textarea, TextInput } from '@mantine/core'
import { CodeEditor } from '../../ui/code/CodeEditor'
import { bytesText } from '../../ui/format'
import { InlineText } from '../InlineText'
import { REMOVED, written, type Setting, type StoredFile } from '../schema-fields'
import classes from './SettingsTab.module.css'

type Props = {
  setting: Setting
  value: unknown
  error: string | undefined
  isRequired: boolean
  /** A secret that the server has already. */
  isStored: boolean
  file: StoredFile | null
  onChange: (value: unknown) => void
}

const LONG = 120

export function SettingField({ setting, value, error, isRequired, isStored, file, onChange }: Props) {
  const { name, label, type, hint, isSecret, choices } = setting
  const shared = {
    name,
    label: isRequired ? label : `${label} (optional)`,
    error,
    description: hint === '' ? undefined : <InlineText>{hint}</InlineText>,
  }
  const text = typeof value === 'string' ? value : ''
  const onText = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value)

  if (type === 'attachment')
    return <AttachmentField shared={shared} value={value} file={file} onChange={onChange} />
  if (isSecret && isStored && value === null)
    return (
      <Input.Wrapper {...shared} labelElement="div">
        <div className={classes.stored}>
          <span className="quiet">Stored</span>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => onChange('')}
            aria-label={`Replace ${label}`}
          >
            Replace
          </Button>
        </div>
      </Input.Wrapper>
    )
  if (isSecret && type !== 'json')
    return (
      <>
        <PasswordInput {...shared} value={text} onChange={onText} autoComplete="new-password" />
        {isStored && (
          <div>
            <Button variant="subtle" size="compact-sm" onClick={() => onChange(null)}>
              Keep the stored one
            </Button>
          </div>
        )}
      </>
    )
  if (type === 'choice')
    return (
      <Select
        {...shared}
        data={[...new Set(choices.map(written))]}
        value={text === '' ? null : text}
        onChange={(chosen) => onChange(chosen ?? '')}
        clearable={!isRequired}
        clearButtonProps={{ 'aria-label': 'Clear' }}
        comboboxProps={{ withinPortal: true }}
      />
    )
  if (type === 'json')
    return (
      <Input.Wrapper {...shared} labelElement="div">
        <CodeEditor language="json" label={label} value={text} onChange={onChange} height="160px" />
      </Input.Wrapper>
    )
  return text.length > LONG || text.includes('\n') ? (
    <Textarea {...shared} value={text} onChange={onText} autosize maxRows={12} />
  ) : (
    <TextInput {...shared} value={text} onChange={onText} autoComplete="off" />
  )
}

type AttachmentProps = Pick<Props, 'value' | 'file' | 'onChange'> & {
  shared: { name: string; label: string }
}

function AttachmentField({ shared, value, file, onChange }: AttachmentProps) {
  if (file !== null && value === null)
    return (
      <Input.Wrapper {...shared} labelElement="div">
        <div className={classes.stored}>
          <span className="cut">
            {file.isSecret ? <span className="quiet">Stored</span> : `${file.name}, ${bytesText(file.size)}`}
          </span>
          <span>
            <Button
              variant="subtle"
              size="compact-sm"
              onClick={() => onChange(undefined)}
              aria-label={`Replace ${shared.label}`}
            >
              Replace
            </Button>
            <Button
              variant="subtle"
              size="compact-sm"
              onClick={() => onChange(REMOVED)}
              aria-label={`Remove ${shared.label}`}
            >
              Remove
            </Button>
          </span>
        </div>
      </Input.Wrapper>
    )
  return (
    <>
      <FileInput
        {...shared}
        value={value instanceof File ? value : null}
        onChange={(chosen) => onChange(chosen ?? (file === null ? null : undefined))}
        placeholder={
          value === REMOVED ? 'The stored file is removed when you save' : 'Choose a file of 10 MB at most'
        }
        clearable
        clearButtonProps={{ 'aria-label': 'Clear' }}
      />
      {file !== null && (
        <div>
          <Button variant="subtle" size="compact-sm" onClick={() => onChange(null)}>
            Keep the stored one
          </Button>
        </div>
      )}
    </>
  )
}
