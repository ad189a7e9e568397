/* Keys that people try because other programs have them there, and where Bogie has what they mean.
 */
#include "model/read.h"

#include <string.h>

typedef struct topic {
    const char *keys[6], *says;
} topic;

static const topic topics[] = {
    {{"limits", "limit", "range", "lower", "upper", "max_angle"},
     "limits of a joint are a force of type 'limit'; docs/how-to.md shows one"},
    {{"friction", "coulomb", "stiction"},
     "friction in a joint is a force of type 'friction', that of a contact its member 'friction'; "
     "docs/how-to.md shows both"},
    {{"damping", "stiffness", "spring", "damper"},
     "springs and dampers are forces: 'torsion' along a joint, 'spring-damper' between points; "
     "docs/how-to.md shows both"},
    {{"contact", "contacts", "collision", "restitution"},
     "contact of a body with a plane is a force of type 'contact'; docs/how-to.md shows one"},
    {{"bump_stop", "bumpstop", "stop"},
     "a stop between two points is a force of type 'bump-stop', one of a joint a force of type "
     "'limit'; docs/how-to.md shows both"},
    {{"camber", "toe", "caster", "steer", "alignment"},
     "camber, toe and caster are outputs of kind 'wheel'; docs/how-to.md shows them"},
    {{"motor", "drive", "actuator", "torque"},
     "a joint is driven by 'prescribed' (a motion) or by a force of type 'torsion' (a torque); "
     "docs/how-to.md shows both"},
    {{"mesh", "geometry", "stl", "cad", "visual", "visuals"},
     "bodies are drawn by 'shapes', and need mass, 'center' and 'inertia'; docs/how-to.md says how "
     "to "
     "take them from CAD"},
    {{"com", "cog", "frame", "origin", "pose", "transform"},
     "everything is placed in the design position, in world coordinates, as 'center' and 'points'; "
     "docs/how-to.md says how to take them from CAD"},
    {{"vehicles", "copies", "instances", "include", "import"},
     "what is there several times is one of 'parts' and has a 'use' for each; docs/how-to.md shows "
     "two vehicles"},
    {{"terrain", "surface", "heights", "heightmap", "ground_profile"},
     "a measured road is a 'road' of type 'table' with 'points' or a 'file'; docs/how-to.md shows "
     "one"},
};

const char *bg_topic_find(const char *key)
{
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        for (int k = 0; k < 6 && topics[i].keys[k]; k++)
            if (strcmp(key, topics[i].keys[k]) == 0)
                return topics[i].says;
    return NULL;
}
