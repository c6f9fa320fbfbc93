import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildOnce } from './service.ts'
import { offerService } from './shared-service.ts'

// Runs once before all files of `npm test`.

export const globalSetup = async () => {
  // Tests start the same programs many times: Node compiles each once.
  compiled = mkdtempSync(join(tmpdir(), 'tributary-compiled-'))
  process.env.NODE_COMPILE_CACHE ??= compiled
  deleteCopy = await buildOnce()
  endService = await offerService()
}
export const globalTeardown = async () => {
  // Node prints no error of this function: it only exits with 1.
  await endService().catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
  deleteCopy()
  rmSync(compiled, { recursive: true, force: true })
}

let compiled = ''
let deleteCopy = () => {}
let endService = async () => {}
