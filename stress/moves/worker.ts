import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun,
  TokenGate,
} from 'tributary:service'
import { PAUSE_LIMITS } from '../../src/admin/move-limits.ts'

// The service, which deletes the old copy of a confirmed move at once.

PAUSE_LIMITS.leastMs = 0

export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, StatementRun, TokenGate }
export default service
