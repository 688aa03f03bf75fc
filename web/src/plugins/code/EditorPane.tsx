// The files of an app in an editor that knows the plugin interface.
import { ActionIcon, Button, Menu, UnstyledButton } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { CodeEditor, type CodeLanguage } from '../../ui/code/CodeEditor'
import { Confirm } from '../../ui/Confirm'
import { Icon } from '../../ui/Icon'
import { done, refused } from '../../ui/notify'
import { Tip } from '../../ui/Tip'
import type { App } from '../queries'
import { Changed } from './Changed'
import classes from './CodeTab.module.css'
import { completeApp } from './completion'
import { offsetOf, problemsIn, type SourceError } from './places'
import type { useFiles } from './useFiles'
import { readEvent, type Trial } from './useTrial'

const page = getRouteApi('/frame/project/$projectId/apps/$configId/$tab')
const KNOWN = ['index.ts', 'site.ts', 'frontend.tsx', 'plugin.json']

type Props = {
  app: App
  code: ReturnType<typeof useFiles>
  trial: Trial
  settings: readonly string[]
  /** Null where the code may be changed. */
  denial: string | null
}

export function EditorPane({ app, code, trial, settings, denial }: Props) {
  const { file: asked, at } = page.useSearch()
  const navigate = page.useNavigate()
  const [isSaving, setSaving] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  const names = Object.keys(code.files).toSorted(byUse)
  const file = names.find((name) => name === asked) ?? names[0]
  const text = file === undefined ? '' : code.files[file]!
  const isInstalled = app.plugin_info.url !== null
  const isReadOnly = isInstalled || denial !== null
  const open = (name: string, place?: string) =>
    void navigate({ search: place === undefined ? { file: name } : { file: name, at: place } })

  // The editor keeps the source it was given first, so what it knows is looked up when it asks.
  const known = useRef({ settings, properties: [] as readonly string[] })
  known.current = { settings, properties: Object.keys(propertiesOf(trial.text)) }
  const completions = useMemo(() => [completeApp(() => known.current)], [])
  const shown: readonly SourceError[] =
    trial.result !== null && code.isDirty ? trial.result.errors : app.plugin_info.errors

  async function save(send = code.save) {
    if (!code.isDirty || isSaving || isReadOnly) return
    setSaving(true)
    try {
      const plugin = await send()
      if (plugin.errors.length === 0)
        done(app.enabled ? 'Saved. The next event goes through the new code.' : 'Saved.')
      else refused(new Error(`Saved, but it does not run: ${plugin.errors[0]!.message}`))
    } catch (error) {
      refused(error)
    } finally {
      setSaving(false)
    }
  }

  return (
    <section className={classes.pane} aria-label="Code">
      <div className={classes.bar}>
        <nav aria-label="Files">
          {names.map((name) => (
            <Link
              key={name}
              from="/project/$projectId/apps/$configId/$tab"
              search={{ file: name }}
              className={`${classes.file} mono`}
              aria-current={name === file ? 'page' : undefined}
            >
              {name}
              {code.isEdited(name) && <span className={classes.dirty} role="img" aria-label="not saved" />}
            </Link>
          ))}
        </nav>
        {!isReadOnly && (
          <FileMenu
            names={names}
            file={file}
            onAdd={(name) => {
              code.write(name, name === 'plugin.json' ? manifestOf(app) : '')
              open(name)
            }}
            onRemove={() => setRemoving(true)}
          />
        )}
        {!isReadOnly && (
          <span className={classes.end}>
            {code.isDirty && (
              <Button
                variant="subtle"
                onClick={() => {
                  code.discard()
                  trial.clear()
                }}
              >
                Discard
              </Button>
            )}
            <Tip label="Ctrl-S">
              <Button
                variant={code.isDirty ? 'filled' : 'default'}
                loading={isSaving}
                disabled={!code.isDirty}
                onClick={() => void save()}
              >
                Save code
              </Button>
            </Tip>
          </span>
        )}
      </div>
      {isInstalled && (
        <p className={classes.note}>
          Installed from {app.plugin_info.url}. It is changed there, and updated here.
        </p>
      )}
      {denial !== null && <p className={classes.note}>{denial}</p>}
      {code.changed.length > 0 && !isSaving && !isReadOnly && (
        <Changed
          code={code}
          onOverwrite={() => void save(code.overwrite)}
          onTake={() => {
            code.takeTheirs()
            trial.clear()
          }}
        />
      )}
      {file === undefined ? (
        <p className={classes.note}>There is no code yet. Add a file to begin.</p>
      ) : (
        <div className={classes.editor}>
          <CodeEditor
            key={file}
            label={file}
            language={languageOf(file)}
            value={text}
            onChange={(next) => {
              code.write(file, next)
              trial.clear()
            }}
            completions={file === 'index.ts' ? completions : []}
            diagnostics={problemsIn(file, text, shown)}
            onRun={() => void trial.run()}
            onSave={() => void save()}
            isReadOnly={isReadOnly}
            height="100%"
            isBare
            {...(at === undefined ? {} : { shownAt: offsetOf(text, placeOf(at)) })}
          />
        </div>
      )}
      {shown.length > 0 && (
        <ul className={`${classes.problems} mono`} aria-label="What is wrong in the code">
          {shown.map((error, index) => (
            <li key={index}>
              <UnstyledButton onClick={() => open(error.file, `${error.line ?? 1}:${error.column ?? 1}`)}>
                {error.file}:{error.line ?? '?'}: {error.message}
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
      <Confirm
        isOpen={isRemoving && file !== undefined}
        onClose={() => setRemoving(false)}
        title={`Delete ${file}`}
        button="Delete file"
        onConfirm={async () => {
          await code.remove(file!)
          done(`${file} is deleted.`)
        }}
      >
        The file goes from the app at once, in every project that uses it.
      </Confirm>
    </section>
  )
}

type FileMenuProps = {
  names: readonly string[]
  file: string | undefined
  onAdd: (name: string) => void
  onRemove: () => void
}

function FileMenu({ names, file, onAdd, onRemove }: FileMenuProps) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label="Files: add or delete" size="sm">
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {KNOWN.filter((name) => !names.includes(name)).map((name) => (
          <Menu.Item key={name} leftSection={<Icon name="plus" />} onClick={() => onAdd(name)}>
            Add {name}
          </Menu.Item>
        ))}
        {file !== undefined && (
          <Menu.Item leftSection={<Icon name="trash" />} onClick={onRemove}>
            Delete {file}…
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Code first, then what describes it. */
function byUse(one: string, other: string): number {
  const place = (name: string) => (KNOWN.indexOf(name) === -1 ? KNOWN.length : KNOWN.indexOf(name))
  return place(one) - place(other) || one.localeCompare(other)
}

const languageOf = (file: string): CodeLanguage =>
  file.endsWith('.json') ? 'json' : file.endsWith('.js') ? 'javascript' : 'typescript'

const manifestOf = ({ plugin_info: { name } }: App) => `${JSON.stringify({ name, config: [] }, null, 2)}\n`

function placeOf(at: string) {
  const [line = 1, column = 1] = at.split(':').map(Number)
  return { line, column }
}

function propertiesOf(text: string): Record<string, unknown> {
  const properties = readEvent(text)?.properties
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {}
}
