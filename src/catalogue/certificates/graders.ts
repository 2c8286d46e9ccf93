// The grading companies whose certificates are accepted: data only. A new company is a line here.

export interface Grader {
  code: string
  name: string
  /** what its certificate numbers look like, without separators and leading zeros; another number is accepted with a warning */
  certShape: RegExp
  /** what its grades look like; another grade is accepted with a warning */
  gradeShape: RegExp
}

const HALVES = /^(10|[1-9](\.5)?|Authentic)$/i

export const GRADERS: readonly Grader[] = [
  { code: 'PSA', name: 'Professional Sports Authenticator', certShape: /^\d{5,9}$/, gradeShape: HALVES },
  { code: 'BGS', name: 'Beckett Grading Services', certShape: /^\d{6,10}$/, gradeShape: /^(10|[1-9](\.5)?|Authentic|(Black Label|Pristine) 10)$/i },
  { code: 'CGC', name: 'Certified Guaranty Company', certShape: /^\d{9,10}$/, gradeShape: /^(10|[1-9](\.5)?|Authentic|(Pristine|Perfect) 10)$/i },
  { code: 'SGC', name: 'Sportscard Guaranty', certShape: /^\d{6,10}$/, gradeShape: HALVES },
  { code: 'TAG', name: 'Technical Authentication & Grading', certShape: /^[A-Z]\d{6,8}$/, gradeShape: /^(10|[1-9](\.5)?|Pristine 10)$/i },
  { code: 'ACE', name: 'Ace Grading', certShape: /^\d{4,9}$/, gradeShape: HALVES },
]

/** Codes of the graders, as certificates state them. */
export const GRADER_CODES = GRADERS.map(({ code }) => code)
