#ifndef POLICY_FIND_H
#define POLICY_FIND_H

#define POLICY_NAME ".tracetool.yaml"

/* The policy for inputs of a folder: the nearest file of that name, from the folder upwards to the root of
 * the repository, the folder that holds .git.  Outside of a repository the search ends at the current folder
 * if the inputs lie below it, else in their own.  here: the current folder, absolute.  An absolute path to be
 * freed; NULL: there is none, or (*error, an errno value) nobody knows. */
char *policy_find(const char *folder, const char *here, int *error);

#endif
