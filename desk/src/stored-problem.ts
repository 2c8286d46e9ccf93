// Why a request was refused, in a form that the browser can store and show again after a reload.
import { ApiError, type Refusal } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'

export interface StoredProblem {
  status: number
  refusal: Refusal
}

export function storedProblem(error: unknown): StoredProblem {
  const { status, code, message, details, rule, params }: ApiError = asApiError(error)
  return { status, refusal: { code, message, details, rule, params: params as Refusal['params'] } }
}

export function errorOf({ status, refusal }: StoredProblem): ApiError {
  return new ApiError(status, refusal)
}
