// Bundles the server with a clock of its own into the folder given: `node scripts/prove/crash/build-server.js <folder>`.
// A program apart, because the bundler cannot be part of a bundle, which the prover is.
import { bundle } from '../../bundle.js'

await bundle('scripts/prove/crash/server.ts', process.argv[2], 'server.js')
