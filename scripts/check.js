// `npm run check`, which is what CI runs. Tests wait for time limits a quarter of their time: what reads the sources goes
// on beside them, at the lowest priority, and says what it found when it has ended.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

const BESIDE = ['npm run lint', 'npm run types', 'knip']

const ended = (child) =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0))
  })

async function readSources() {
  let isFine = true
  for (const command of BESIDE) {
    const child = spawn('nice', ['-n', '19', 'sh', '-c', `${command} 2>&1`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed, isThisFine] = await Promise.all([text(child.stdout), ended(child)])
    process.stdout.write(isThisFine ? `${command}: fine\n` : `${printed}\n${command}: FAILED\n`)
    isFine &&= isThisFine
  }
  return isFine
}

const tests = spawn('vitest', ['run', ...process.argv.slice(2)], { stdio: 'inherit' })
const [sources, passed] = await Promise.all([readSources(), ended(tests)])
if (!sources) process.stdout.write('see above: the sources are not fine\n')
if (!sources || !passed) process.exitCode = 1
