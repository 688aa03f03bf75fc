// Builds the program into dist/ (or the folder given), anew.
import { rm } from 'node:fs/promises'
import { bundle } from './bundle.js'

const folder = process.argv[2] ?? new URL('../dist', import.meta.url).pathname
await rm(folder, { recursive: true, force: true })
await bundle('src/main.ts', folder, 'longshore.js')
