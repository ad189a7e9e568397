/* What completes command lines of bogie in bash and zsh: scripts with the verbs, options and words
 * of the tables in them. */
#include "cli/cli.h"

#include "integrators/prk_pair.h"

#include <stdio.h>
#include <string.h>

/* What the operand or the option of a kind is completed with: a function of the scripts. */
static const char *find_function(bg_cli_kind kind)
{
    switch (kind) {
    case BG_CLI_FILE:
        return "_bogie_file";
    case BG_CLI_MODEL:
        return "_bogie_model";
    case BG_CLI_STUDY:
        return "_bogie_study";
    case BG_CLI_INTEGRATOR:
        return "_bogie_integrator";
    case BG_CLI_PAIR:
        return "_bogie_pair";
    case BG_CLI_VERB:
        return "_bogie_verb";
    case BG_CLI_SETTING:
        return "_bogie_setting";
    default:
        return NULL; /* nobody knows it beforehand */
    }
}

/* The words of a choice, "joint|cartesian" or the like, with blanks between them. */
static void print_words(FILE *file, const char *argument)
{
    for (; *argument; argument++)
        fputc(*argument == '|' ? ' ' : *argument, file);
}

static void print_verbs(FILE *file)
{
    for (const bg_verb *const *verb = bg_verbs_get(); *verb; verb++)
        fprintf(file, " %s", (*verb)->name);
}

static void print_integrators(FILE *file)
{
    const bg_integrator_info *info;
    for (int i = 0; (info = bg_integrator_get_info(i)); i++)
        fprintf(file, " %s", info->name);
}

static void print_equations(FILE *file)
{
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++)
        fprintf(file, " equations:%s", (*all)->name);
}

static void print_pairs(FILE *file)
{
    const char *name;
    for (int k = 0; (name = bg_prk_pair_get_name(k)); k++)
        fprintf(file, " %s", name);
}

/* Whether an integrator before the i-th has the option, too. */
static bool is_option_known(int i, const char *name)
{
    for (int k = 0; k < i; k++) {
        const bg_integrator_info *info = bg_integrator_get_info(k);
        for (int n = 0; n < info->noptions; n++)
            if (strcmp(info->options[n].name, name) == 0)
                return true;
    }
    return false;
}

/* integrator.OPTION= of all integrators. */
static void print_integrator_options(FILE *file)
{
    const bg_integrator_info *info;
    for (int i = 0; (info = bg_integrator_get_info(i)); i++)
        for (int n = 0; n < info->noptions; n++)
            if (!is_option_known(i, info->options[n].name))
                fprintf(file, " integrator.%s=", info->options[n].name);
}

/* Branches of a case over the operand: NAME= of each parameter, by `command`. */
static void print_parameters(FILE *file, const char *before, const char *after)
{
    for (const bg_equations *const *all = bg_equations_get_all(); *all; all++) {
        fprintf(file, "        equations:%s) %s", (*all)->name, before);
        for (int k = 0; k < (*all)->nparameters; k++)
            fprintf(file, " %s=", (*all)->parameters[k].name);
        fprintf(file, "%s ;;\n", after);
    }
}

static void print_bash_functions(FILE *file)
{
    fputs("# Completion of bogie for bash, made by `bogie help --completion bash`.\n\n"
          "# Words that begin as $word does.\n"
          "_bogie_words() {\n"
          "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$1\" -- \"$word\")\n"
          "}\n\n"
          "# Folders, and files with one of these endings.\n"
          "_bogie_ending() {\n"
          "    local file ending\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    while IFS= read -r file; do\n"
          "        for ending in \"$@\"; do\n"
          "            if [[ -d $file || $file == *$ending ]]; then\n"
          "                COMPREPLY+=(\"$file\")\n"
          "                break\n"
          "            fi\n"
          "        done\n"
          "    done < <(compgen -f -- \"$word\")\n"
          "}\n\n"
          "_bogie_operand() { _bogie_words \"$operands\"; }\n"
          "_bogie_file() { _bogie_ending ''; }\n"
          "_bogie_study() { _bogie_ending .json; }\n"
          "_bogie_verb() { _bogie_words '",
          file);
    print_verbs(file);
    fputs("'; }\n_bogie_integrator() { _bogie_words '", file);
    print_integrators(file);
    fputs("'; }\n_bogie_pair() { _bogie_words '", file);
    print_pairs(file);
    fputs("'; _bogie_ending .json; }\n_bogie_model() {\n    _bogie_words '", file);
    print_equations(file);
    fputs("'\n    [[ $word == equations:* ]] || _bogie_ending .json .so\n}\n\n"
          "# NAME= of a parameter or option: the value follows without a blank.\n"
          "_bogie_setting() {\n"
          "    local part\n"
          "    compopt -o nospace 2>/dev/null\n"
          "    for part in \"${words[@]:2}\"; do\n"
          "        case $part in\n",
          file);
    print_parameters(file, "_bogie_words '", "'");
    fputs("        esac\n    done\n    _bogie_words '", file);
    print_integrator_options(file);
    fputs("'\n}\n\n", file);
}

static void print_bash_verb(FILE *file, const bg_verb *verb)
{
    const char *operand = verb->operand ? find_function(verb->operand_kind) : NULL;
    fprintf(file, "    %s) operand=%s operands='", verb->name,
            operand ? operand : "_bogie_operand");
    print_words(file, verb->operand_words ? verb->operand_words : "");
    fputs("' options='", file);
    for (int i = 0; i < verb->noptions; i++)
        fprintf(file, "%s ", verb->options[i].name);
    fputs("--help' ;;\n", file);
}

/* What follows an option that takes a value. */
static void print_bash_values(FILE *file, const bg_verb *verb)
{
    for (int i = 0; i < verb->noptions; i++) {
        const bg_cli_option *option = &verb->options[i];
        const char *function = find_function(option->kind);
        if (option->kind == BG_CLI_FLAG)
            continue;
        fprintf(file, "    %s:%s", verb->name, option->name);
        if (option->alias)
            fprintf(file, " | %s:%s", verb->name, option->alias);
        if (option->kind == BG_CLI_CHOICE) {
            fputs(") _bogie_words '", file);
            print_words(file, option->argument);
            fputs("' ;;\n", file);
        } else {
            fprintf(file, ") %s ;;\n", function ? function : ":");
        }
    }
}

void bg_completion_print_bash(FILE *file)
{
    const bg_verb *const *verbs = bg_verbs_get();
    print_bash_functions(file);
    fputs("_bogie() {\n"
          "    local word previous options operand operands breaks glued i\n"
          "    local -a words\n"
          "    # shellcheck disable=SC2162 # a backslash keeps the blank behind it\n"
          "    read -a words <<<\"${COMP_LINE:0:COMP_POINT}.\"\n"
          "    words[-1]=${words[-1]%.}\n"
          "    word=${words[-1]} previous=${words[-2]}\n"
          "    COMPREPLY=()\n"
          "    if ((${#words[@]} == 2)); then\n"
          "        _bogie_verb\n"
          "        _bogie_words '--help --version'\n"
          "        return\n"
          "    fi\n"
          "    case ${words[1]} in\n",
          file);
    for (int i = 0; verbs[i]; i++)
        print_bash_verb(file, verbs[i]);
    fputs("    esac\n"
          "    [[ $word != --*=* ]] || { previous=${word%%=*} word=${word#*=}; }\n"
          "    case ${words[1]}:$previous in\n",
          file);
    for (int i = 0; verbs[i]; i++)
        print_bash_values(file, verbs[i]);
    fputs("    *) if [[ $word == -* ]]; then _bogie_words \"$options\"; else $operand; fi ;;\n"
          "    esac\n"
          "    # bash replaces only what follows the last of these\n"
          "    breaks=${COMP_WORDBREAKS//[^:=]/}\n"
          "    glued=${breaks:+${word%\"${word##*[\"$breaks\"]}\"}}\n"
          "    for i in \"${!COMPREPLY[@]}\"; do\n"
          "        COMPREPLY[i]=${COMPREPLY[i]#\"$glued\"}\n"
          "    done\n"
          "}\n"
          "complete -F _bogie bogie\n",
          file);
}

/* A text between [ and ] in an argument of _arguments that stands between '. */
static void print_zsh_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fprintf(file,
                *text == '\''                                   ? "'\\''"
                : *text == '[' || *text == ']' || *text == '\\' ? "\\%c"
                                                                : "%c",
                *text);
}

static void print_zsh_functions(FILE *file)
{
    const bg_verb *const *verbs = bg_verbs_get();
    fputs("#compdef bogie\n"
          "# Completion of bogie for zsh, made by `bogie help --completion zsh`.\n\n"
          "_bogie_file() { _files \"$@\" }\n"
          "_bogie_study() { _files \"$@\" -g '*.json(-.)' }\n"
          "_bogie_integrator() { compadd \"$@\" --",
          file);
    print_integrators(file);
    fputs(" }\n_bogie_names() { compadd \"$@\" --", file);
    print_pairs(file);
    fputs(" }\n_bogie_equations() { compadd \"$@\" --", file);
    print_equations(file);
    fputs(" }\n"
          "_bogie_pair() { _alternative 'pairs:pair:_bogie_names' 'files:file:_bogie_study' }\n"
          "_bogie_model_file() { _files \"$@\" -g '*.(json|so)(-.)' }\n"
          "_bogie_model() {\n"
          "    _alternative 'files:model file:_bogie_model_file' "
          "'equations:built-in system:_bogie_equations'\n"
          "}\n"
          "_bogie_setting() {\n"
          "    local part\n"
          "    for part in $words; do\n"
          "        case $part in\n",
          file);
    print_parameters(file, "compadd -S '' --", "");
    fputs("        esac\n    done\n    compadd -S '' --", file);
    print_integrator_options(file);
    fputs("\n}\n_bogie_verb() {\n    local -a verbs\n    verbs=(\n", file);
    for (int i = 0; verbs[i]; i++) {
        fprintf(file, "        '%s:", verbs[i]->name);
        print_zsh_text(file, verbs[i]->summary);
        fputs("'\n", file);
    }
    fputs("    )\n    _describe -t verbs verb verbs\n}\n\n", file);
}

static void print_zsh_option(FILE *file, const bg_cli_option *option)
{
    const char *function = find_function(option->kind);
    bool flag = option->kind == BG_CLI_FLAG;
    fputs(" \\\n            ", file);
    if (option->alias)
        fprintf(file, "'(%s %s)'{%s,%s=}'[", option->alias, option->name, option->alias,
                option->name);
    else
        fprintf(file, "'%s%s%s[", option->kind == BG_CLI_SETTING ? "*" : "", option->name,
                flag ? "" : "=");
    print_zsh_text(file, option->summary);
    fputc(']', file);
    if (option->kind == BG_CLI_CHOICE) {
        fputs(":word:(", file);
        print_words(file, option->argument);
        fputc(')', file);
    } else if (!flag) {
        fputc(':', file);
        for (const char *c = option->argument; *c; c++)
            fprintf(file, *c == ':' ? "\\%c" : "%c", *c);
        fprintf(file, ":%s", function ? function : "");
    }
    fputc('\'', file);
}

void bg_completion_print_zsh(FILE *file)
{
    const bg_verb *const *verbs = bg_verbs_get();
    print_zsh_functions(file);
    fputs("_bogie() {\n"
          "    local context state state_descr line\n"
          "    typeset -A opt_args\n"
          "    _arguments -C '(- *)--version[name the version]' '(- *)--help[list the verbs]' \\\n"
          "        '1:verb:_bogie_verb' '*::argument:->rest'\n"
          "    [[ $state == rest ]] || return\n"
          "    case $line[1] in\n",
          file);
    for (int i = 0; verbs[i]; i++) {
        const bg_verb *verb = verbs[i];
        fprintf(file, "    %s)\n        _arguments '(- *)--help[explain the verb]'", verb->name);
        for (int k = 0; k < verb->noptions; k++)
            print_zsh_option(file, &verb->options[k]);
        const char *function = verb->operand ? find_function(verb->operand_kind) : NULL;
        if (verb->operand)
            fprintf(file, " \\\n            '%s:%s:%s", strchr(verb->operand, '.') ? "*" : "1",
                    verb->operand, function ? function : "(");
        if (verb->operand && !function)
            print_words(file, verb->operand_words);
        if (verb->operand)
            fputs(function ? "'" : ")'", file);
        fputs(" ;;\n", file);
    }
    fputs(
        "    esac\n}\n\nif [[ $funcstack[1] == _bogie ]]; then _bogie \"$@\"; else compdef _bogie "
        "bogie; fi\n",
        file);
}
