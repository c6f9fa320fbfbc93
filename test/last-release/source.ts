// The objects as a file of their own, from which scripts/last-release.ts makes objects.js.

export { ErasureJournal } from '../../src/admin/erasure-journal.ts'
export { ClientGate } from '../../src/auth/client-gate.ts'
export { TokenGate } from '../../src/auth/token-gate.ts'
export { BackgroundJob } from '../../src/background-job.ts'
