// Two have edited the same files: which code is kept is for whoever saves last to say.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../../ui/Dialog'
import classes from './CodeTab.module.css'
import { differenceOfTexts } from './difference'
import { Lines } from './Lines'
import type { useFiles } from './useFiles'

type Props = { code: ReturnType<typeof useFiles>; onOverwrite: () => void; onTake: () => void }

export function Changed({ code, onOverwrite, onTake }: Props) {
  const [isLooking, setLooking] = useState(false)
  const { changed, saved, files } = code
  return (
    <div className={classes.changed} role="alert">
      <p>
        {changed.join(' and ')} {changed.length === 1 ? 'was' : 'were'} changed elsewhere since you began.
      </p>
      <Button variant="default" onClick={() => setLooking(true)}>
        Look at the difference
      </Button>
      <Button variant="default" onClick={onOverwrite}>
        Overwrite it
      </Button>
      <Button variant="default" onClick={onTake}>
        Take theirs
      </Button>
      <Dialog
        opened={isLooking}
        onClose={() => setLooking(false)}
        title="From what is stored to yours"
        size="xl"
      >
        {changed.map((file) => (
          <section key={file}>
            <p className="mono">{file}</p>
            <Lines
              label={`${file}, stored and yours`}
              lines={differenceOfTexts(saved[file] ?? '', files[file]!)}
            />
          </section>
        ))}
      </Dialog>
    </div>
  )
}
