// Builds the program into dist/ (or the folder given), anew: aside first, so that nobody ever finds half of it.
import { rename, rm } from 'node:fs/promises'
import { bundle } from './bundle.js'

const folder = process.argv[2] ?? new URL('../dist', import.meta.url).pathname
const making = `${folder}.new-${process.pid}`
const old = `${folder}.old-${process.pid}`
try {
  await bundle('src/main.ts', making, 'longshore.js')
  await rename(folder, old).catch(unless('ENOENT'))
  // A build running beside us was faster; its result is as good as ours.
  await rename(making, folder).catch(unless('ENOTEMPTY', 'EEXIST'))
} finally {
  for (const leftover of [making, old]) await rm(leftover, { recursive: true, force: true })
}

function unless(...codes) {
  return (error) => {
    if (!codes.includes(error.code)) throw error
  }
}
