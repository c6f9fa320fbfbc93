import { buildOnce } from './service.ts'

// Runs once before all files of `npm test`.

export const globalSetup = () => {
  deleteCopy = buildOnce()
}
export const globalTeardown = () => deleteCopy()

let deleteCopy = () => {}
