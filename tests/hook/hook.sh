#!/bin/sh
# The example of two models and a hook between them: as good as one model with a constraint.
# Usage: hook.sh PROGRAM SOURCE
"$1" "$2" 12 | awk '
    { print }
    $1 == "defect" { good += $2 > 0 && $2 < 1e-5 }
    $1 == "force" { good += $4 > 0 && $4 < 1e-3 * $7 }
    $1 == "articulation" { good += $4 > 0 && $4 < 1e-4 * $7 }
    END { exit good != 3 }'
